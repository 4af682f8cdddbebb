// ⌘K: everything there is to go to or do, found by a few letters. What is listed is made in `commands.ts`.
import { Command } from "cmdk";
import * as RadixDialog from "@radix-ui/react-dialog";
import { Search } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { found, useCommands } from "@/app/commands";
import { show } from "@/app/overlays";
import { Kbd } from "@/ui";

export function Palette() {
  const { t } = useTranslation();
  const [asked, setAsked] = useState("");
  const groups = found(useCommands(), asked);
  return (
    <RadixDialog.Root open onOpenChange={(open) => !open && show(null)}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fixed inset-0 z-40 bg-black/35" />
        <RadixDialog.Content
          aria-describedby={undefined}
          className="fixed top-[10vh] left-1/2 z-50 w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-panel shadow-[var(--shadow)]"
        >
          <RadixDialog.Title className="sr-only">{t("app.search")}</RadixDialog.Title>
          <Command shouldFilter={false} label={t("app.search")} loop>
            <div className="flex items-center gap-2.5 border-b border-line px-4">
              <Search size={16} className="text-faint" aria-hidden />
              <Command.Input
                value={asked}
                onValueChange={setAsked}
                placeholder={t("app.search")}
                className="h-12 min-w-0 flex-1 bg-transparent outline-none placeholder:text-faint"
              />
              <Kbd>esc</Kbd>
            </div>
            <Command.List className="max-h-[56vh] overflow-y-auto p-1.5">
              <Command.Empty className="px-4 py-8 text-center text-soft">{t("palette.nothing")}</Command.Empty>
              {groups.map(({ group, commands }) => (
                <Command.Group
                  key={group}
                  heading={t(`palette.${group}`)}
                  className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-faint"
                >
                  {commands.map(({ id, icon: Icon, words, aside, run }) => (
                    <Command.Item
                      key={id}
                      value={id}
                      onSelect={() => {
                        show(null);
                        run();
                      }}
                      className="flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 data-[selected=true]:bg-sunken"
                    >
                      <Icon size={15} className="shrink-0 text-soft" aria-hidden />
                      <span className="truncate">{words}</span>
                      {aside !== undefined && <span className="ml-auto shrink-0 text-xs text-faint">{aside}</span>}
                    </Command.Item>
                  ))}
                </Command.Group>
              ))}
            </Command.List>
          </Command>
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}
