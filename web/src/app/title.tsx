// What the page is called: the project and the view, in the bar and in the browser's tab.
import { useEffect } from "react";

import type { Project } from "@/api/model";
import { Link, usePath } from "@/app/routing";
import { addressOf, viewAt } from "@/app/views";
import { useTranslation } from "@/i18n/use-words";
import { useBarTitle } from "@/ui";

/** Stands before the view's own title in the bar. */
export function Crumb({ project }: { project: Project | undefined }) {
  if (project === undefined) return null;
  return (
    <>
      <Link
        to={addressOf(project.project_id, "")}
        className="max-w-24 shrink-0 truncate text-[15px] text-soft hover:text-ink sm:max-w-56"
      >
        {project.name}
      </Link>
      <span aria-hidden className="text-faint">
        /
      </span>
    </>
  );
}

/** `(count) view · project` as the title of the tab; `count`: how much waits for the person who looks. */
export function PageTitle({ project, count = 0 }: { project: Project | undefined; count?: number }) {
  const { t } = useTranslation();
  const said = useBarTitle();
  const here = viewAt(usePath());
  const view = said || (here === undefined ? "" : t(`nav.${here.name}`)); // while it is loaded
  const words = [view, project?.name ?? t("app.name")].filter((each) => each !== "").join(" · ");
  const title = count > 0 ? `(${count}) ${words}` : words;
  useEffect(() => {
    document.title = title;
  }, [title]);
  return null;
}
