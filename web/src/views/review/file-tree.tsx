// The changed files beside the changes: how much of each, how many comments it has, and whether it was viewed.
import { Check, Folder, MessageSquare } from "lucide-react";
import { useMemo } from "react";

import type { FileChange } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { visible } from "@/ui";
import { Figures } from "@/views/review/figures";
import { treeOf } from "@/views/review/tree";
import type { Viewed } from "@/views/review/viewed";

interface FileTreeProps {
  files: readonly FileChange[];
  viewed: Viewed;
  /** How many comments a file has. */
  comments: (path: string) => number;
  onGo: (path: string) => void;
}

export function FileTree({ files, viewed, comments, onGo }: FileTreeProps) {
  const { t } = useTranslation("review");
  const rows = useMemo(() => treeOf(files), [files]);
  return (
    <nav
      aria-label={t("list.files")}
      className="sticky top-16 hidden max-h-[calc(100dvh-8rem)] w-56 shrink-0 overflow-auto text-[13px] lg:block"
    >
      <p className="px-2 pb-1 text-xs text-faint tabular-nums">
        {t("viewed.count", { count: viewed.count, all: files.length })}
      </p>
      <ul>
        {rows.map(({ name, depth, file }) => (
          <li key={file?.path ?? `${depth} ${name}`} style={{ paddingLeft: depth * 12 }}>
            {file === null ? (
              <p className="flex items-center gap-1.5 px-2 py-0.5 text-xs text-faint">
                <Folder size={12} className="shrink-0" aria-hidden />
                <bdi className="truncate" title={visible(name)}>
                  {visible(name)}
                </bdi>
              </p>
            ) : (
              <FileRow
                file={file}
                name={name}
                seen={viewed.has(file.path)}
                comments={comments(file.path)}
                onGo={onGo}
              />
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface FileRowProps {
  file: FileChange;
  name: string;
  seen: boolean;
  comments: number;
  onGo: (path: string) => void;
}

function FileRow({ file, name, seen, comments, onGo }: FileRowProps) {
  const { t } = useTranslation("review");
  return (
    <button
      type="button"
      onClick={() => onGo(file.path)}
      title={visible(file.path)}
      className="flex w-full items-center gap-1.5 rounded-md px-2 py-1 text-left hover:bg-sunken"
    >
      <span className="w-3 shrink-0 text-green">
        {seen && <Check size={12} role="img" aria-label={t("viewed.is")} />}
      </span>
      <bdi className={`min-w-0 flex-1 truncate ${seen ? "text-faint" : ""}`}>{visible(name)}</bdi>
      {comments > 0 && (
        <span className="inline-flex items-center gap-0.5 text-xs text-accent tabular-nums">
          <MessageSquare size={11} aria-hidden />
          <span aria-hidden>{comments}</span>
          <span className="sr-only">{t("comment.kept", { count: comments })}</span>
        </span>
      )}
      <Figures insertions={file.insertions} deletions={file.deletions} />
    </button>
  );
}
