// The files that a check has left: pictures are shown small, everything else is a download.
import { Download } from "lucide-react";
import type { ReactNode } from "react";

import type { Task } from "@/api/model";
import { PREFIX } from "@/api/routes";
import { visible } from "@/ui/visible";

type Result = Task["check_results"][number];
export type LeftFile = NonNullable<Result["artifacts"]>[number];

/** As the server decides it by the bytes, not by the name: it sends nothing else to be shown. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

interface ArtifactsProps {
  task: string;
  files: LeftFile[];
  size: (bytes: number) => string;
  /** What stands beside each file. */
  aside?: ((file: LeftFile) => ReactNode) | undefined;
}

/** Pictures of one size side by side, whatever their form; then the downloads, a line each. */
export function Artifacts({ task, files, size, aside }: ArtifactsProps) {
  const pictures = files.filter((each) => PICTURES.includes(each.media_type));
  const others = files.filter((each) => !pictures.includes(each));
  return (
    <>
      {pictures.length > 0 && (
        <ul className="mt-1.5 grid grid-cols-[repeat(auto-fill,minmax(7.5rem,1fr))] gap-3">
          {pictures.map((each) => (
            <li key={each.artifact_id} className="flex min-w-0 flex-col items-start gap-1">
              <a
                href={addressOf(task, each)}
                target="_blank"
                rel="noreferrer"
                className="flex w-full flex-col gap-1 rounded-md text-xs text-accent hover:underline"
              >
                <img
                  src={addressOf(task, each)}
                  alt=""
                  loading="lazy"
                  className="h-24 w-full rounded-md border border-line bg-sunken object-contain"
                />
                <Named file={each} size={size} below />
              </a>
              {aside?.(each)}
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <ul className="mt-1">
          {others.map((each) => (
            <li key={each.artifact_id} className="flex items-center gap-1">
              <a
                href={addressOf(task, each)}
                download=""
                className="inline-flex min-h-7 min-w-0 items-center gap-1.5 text-xs text-accent hover:underline max-sm:min-h-11 max-sm:flex-1"
              >
                <Download size={12} className="shrink-0" aria-hidden />
                <Named file={each} size={size} />
              </a>
              {aside?.(each)}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Its name, and its size beside it or below. */
function Named({ file, size, below = false }: { file: LeftFile; size: (bytes: number) => string; below?: boolean }) {
  const name = visible(file.name);
  return (
    <span className={below ? "min-w-0" : "flex min-w-0 items-baseline gap-1.5"}>
      <span className="line-clamp-4 min-w-0 wrap-anywhere" title={name}>
        {name}
      </span>
      <span className="shrink-0 text-faint">{size(file.bytes)}</span>
    </span>
  );
}

function addressOf(task: string, file: LeftFile): string {
  return `${PREFIX}/tasks/${encodeURIComponent(task)}/artifacts/${encodeURIComponent(file.artifact_id)}`;
}
