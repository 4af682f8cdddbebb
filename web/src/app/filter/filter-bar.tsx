// The filter of a view, the same everywhere: words to look for, one button (`f`) with all that can be narrowed, and a chip
// for each that is. What is chosen stands in the address; the view says how.
import { Check, ListFilter, Search, X } from "lucide-react";
import { useState, type ReactNode, type RefObject } from "react";

import { useKeys } from "@/app/keys";
import { SaveView } from "@/app/saved";
import { useTranslation } from "@/i18n/use-words";
import { Button, IconButton, Menu, MenuItem, SubMenu } from "@/ui";

export interface Facet {
  name: string;
  label: string;
  options: readonly { value: string; words: string; sign?: ReactNode }[];
  chosen: readonly string[];
  /** At most one is chosen at a time. */
  one?: boolean;
  onChoose: (chosen: string[]) => void;
}

interface FilterBarProps {
  facets: readonly Facet[];
  /** What is looked for in texts, where the view can do that. */
  search?: { text: string; onText: (text: string) => void; label: string };
  field?: RefObject<HTMLInputElement | null>;
  onClear: () => void;
  /** How much of how much is shown. */
  found?: string | undefined;
  children?: ReactNode;
}

export function FilterBar({ facets, search, field, onClear, found, children }: FilterBarProps) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  useKeys([{ key: "f", words: t("filter.button"), run: () => setOpen(true) }]);
  const narrowed = facets.filter((each) => each.chosen.length > 0);
  return (
    <div role="search" className="flex min-w-0 flex-1 basis-64 flex-wrap items-center gap-2">
      {search !== undefined && (
        <div className="relative min-w-0 flex-1 basis-48 sm:max-w-64">
          <Search size={14} className="absolute top-2 left-2.5 text-faint" aria-hidden />
          <input
            ref={field}
            type="search"
            aria-label={search.label}
            placeholder={search.label}
            value={search.text}
            onChange={(event) => search.onText(event.target.value.replace(/^\s+/, ""))}
            onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
            className="h-8 w-full rounded-md border border-line-strong bg-panel pr-2 pl-8 placeholder:text-faint"
          />
        </div>
      )}
      <Menu
        align="start"
        open={open}
        onOpen={setOpen}
        trigger={
          <Button small className="h-8">
            <ListFilter size={14} aria-hidden />
            {t("filter.button")}
          </Button>
        }
      >
        {facets.map((each) => (
          <SubMenu key={each.name} label={each.label}>
            <Options facet={each} />
          </SubMenu>
        ))}
      </Menu>
      {narrowed.map((each) => (
        <Chip key={each.name} facet={each} />
      ))}
      {(narrowed.length > 0 || (search !== undefined && search.text !== "")) && (
        <Button small look="quiet" onClick={onClear}>
          <X size={14} aria-hidden />
          {t("filter.clear")}
        </Button>
      )}
      <SaveView />
      {found !== undefined && (
        <span role="status" className="text-xs text-faint tabular-nums">
          {found}
        </span>
      )}
      {children}
    </div>
  );
}

/** What a view is narrowed to by one facet: a click chooses again, the cross lets go. */
function Chip({ facet }: { facet: Facet }) {
  const { t } = useTranslation();
  const { label, options, chosen } = facet;
  const words = chosen.map((value) => options.find((each) => each.value === value)?.words ?? value).join(", ");
  return (
    <span className="inline-flex h-8 max-w-full items-center rounded-md border border-accent bg-accent-soft text-[13px]">
      <Menu
        align="start"
        trigger={
          <button
            type="button"
            aria-label={`${label}: ${words}`}
            className="flex h-full min-w-0 items-center gap-1 rounded-l-md pr-1 pl-2"
          >
            <span className="text-soft">{label}:</span>
            <span className="truncate font-medium">{words}</span>
          </button>
        }
      >
        <div className="max-h-80 overflow-auto">
          <Options facet={facet} />
        </div>
      </Menu>
      <IconButton
        label={t("filter.remove", { name: label })}
        small
        className="mr-0.5"
        onClick={() => facet.onChoose([])}
      >
        <X size={13} />
      </IconButton>
    </span>
  );
}

function Options({ facet: { options, chosen, one = false, onChoose } }: { facet: Facet }) {
  const turned = (value: string) => {
    if (chosen.includes(value)) return chosen.filter((each) => each !== value);
    return one ? [value] : [...chosen, value];
  };
  return options.map(({ value, words, sign }) => (
    <MenuItem key={value} onSelect={() => onChoose(turned(value))}>
      {sign !== undefined && (
        <span aria-hidden className="flex w-5 justify-center">
          {sign}
        </span>
      )}
      {words}
      {chosen.includes(value) && <Check size={14} className="ml-auto" aria-label="✓" />}
    </MenuItem>
  ));
}
