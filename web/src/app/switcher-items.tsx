// The projects that one can switch to: the view stays the same. Archived ones are listed here alone.
import { useQuery } from "@tanstack/react-query";
import { Check, FolderGit2, Layers, Plus } from "lucide-react";

import type { Project } from "@/api/model";
import { projects } from "@/api/queries";
import { useOwns } from "@/app/may";
import { navigate, usePath, useSearch } from "@/app/routing";
import { sameViewOf } from "@/app/views";
import { useTranslation } from "@/i18n/use-words";
import { MenuItem, MenuLine } from "@/ui";

export function SwitcherItems({ project }: { project: Project | undefined }) {
  const { t } = useTranslation();
  const all = useQuery(projects).data ?? [];
  const path = usePath();
  const { by } = useSearch();
  const owns = useOwns();
  const go = (to: Project) =>
    void navigate({ to: sameViewOf(to.project_id, path), search: by === undefined ? {} : { by } });
  const here = all.filter((each) => each.status !== "archived");
  const archived = all.filter((each) => each.status === "archived");
  return (
    <>
      <MenuItem onSelect={() => void navigate({ to: "/" })}>
        <Layers size={15} aria-hidden />
        {t("app.all")}
        {project === undefined && <Check size={14} className="ml-auto" aria-hidden />}
      </MenuItem>
      <MenuLine />
      <div className="max-h-[50vh] overflow-y-auto">
        {[...here, ...archived].map((each) => (
          <MenuItem key={each.project_id} onSelect={() => go(each)}>
            <FolderGit2 size={15} className="shrink-0" aria-hidden />
            <span className="max-w-56 truncate">{each.name}</span>
            <span className="ml-auto flex items-center gap-2 pl-3 text-xs text-faint">
              {each.status !== "active" && t(`switcher.${each.status}`)}
              {each.project_id === project?.project_id && <Check size={14} aria-hidden />}
            </span>
          </MenuItem>
        ))}
      </div>
      {owns && (
        <>
          <MenuLine />
          <MenuItem onSelect={() => void navigate({ to: "/settings", search: { tab: "projects" } })}>
            <Plus size={15} aria-hidden />
            {t("switcher.new")}
          </MenuItem>
        </>
      )}
    </>
  );
}
