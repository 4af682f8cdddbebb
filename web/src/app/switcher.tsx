// Which project one is in, and the way to another (switcher-items.tsx).
import { useQuery } from "@tanstack/react-query";
import { ChevronsUpDown, FolderGit2, Layers } from "lucide-react";

import type { Project } from "@/api/model";
import { sessions } from "@/api/queries";
import { useTranslation } from "@/i18n/use-words";
import { Menu, lateComponent } from "@/ui";

const Items = lateComponent(() => import("@/app/switcher-items").then((part) => part.SwitcherItems));

export function Switcher({ project }: { project: Project | undefined }) {
  const { t } = useTranslation();
  const state = useStateOf(project);
  const name = project?.name ?? t("app.all");
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          // All that one sees on it, in the same order: who speaks to the page says what is seen.
          aria-label={t("switcher.label", { name: state === null ? name : t("switcher.named", { name, state }) })}
          className="flex w-full items-center gap-2.5 rounded-md border border-line bg-panel px-2 py-1.5 text-left hover:border-line-strong"
        >
          {project === undefined ? <Layers size={16} aria-hidden /> : <FolderGit2 size={16} aria-hidden />}
          <span className="min-w-0 flex-1">
            <span className="block truncate font-medium">{name}</span>{" "}
            {state !== null && (
              <span className={`block truncate text-xs ${project?.status === "paused" ? "text-amber" : "text-faint"}`}>
                {state}
              </span>
            )}
          </span>
          <ChevronsUpDown size={14} className="shrink-0 text-faint" aria-hidden />
        </button>
      }
    >
      <Items project={project} />
    </Menu>
  );
}

/** In words: paused, archived, how many agents are at work; null where it is no single project. */
function useStateOf(project: Project | undefined): string | null {
  const { t } = useTranslation();
  const found = useQuery({ ...sessions(project?.project_id ?? ""), enabled: project !== undefined });
  if (project === undefined) return null;
  const open = found.data ?? [];
  const atWork = new Set(open.filter((each) => each.purpose === "task" && !each.ended_at).map((each) => each.agent_id));
  const said = [
    ...(atWork.size > 0 ? [t("switcher.working", { count: atWork.size })] : []),
    ...(project.status === "active" ? [] : [t(`switcher.${project.status}`)]),
  ];
  return said.length === 0 ? t("switcher.quiet") : said.join(" · ");
}
