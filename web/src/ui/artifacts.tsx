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
            <li key={each.artifact_id} className="min-w-0">
              <a
                href={addressOf(task, each)}
                target="_blank"
                rel="noreferrer"
                className="flex flex-col gap-1 rounded-md text-xs text-accent hover:underline"
              >
                <img
                  src={addressOf(task, each)}
                  alt=""
                  loading="lazy"
                  className="h-24 w-full rounded-md border border-line bg-sunken object-contain"
                />
                <Name file={each} />
              </a>
              <span className="flex min-h-7 w-full items-center justify-between gap-1 text-xs text-faint">
                {size(each.bytes)}
                {aside?.(each)}
              </span>
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <ul className="mt-1">
          {others.map((each) => (
            <li key={each.artifact_id} className="flex items-center gap-1.5">
              <a
                href={addressOf(task, each)}
                download=""
                className="inline-flex min-h-7 min-w-0 items-center gap-1.5 text-xs text-accent hover:underline max-sm:min-h-11"
              >
                <Download size={12} className="shrink-0" aria-hidden />
                <Name file={each} />
              </a>
              <span className="shrink-0 text-xs text-faint">{size(each.bytes)}</span>
              {aside?.(each)}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Name({ file }: { file: LeftFile }) {
  const name = visible(file.name);
  return (
    <span className="line-clamp-4 min-w-0 wrap-anywhere" title={name}>
      {name}
    </span>
  );
}

function addressOf(task: string, file: LeftFile): string {
  return `${PREFIX}/tasks/${encodeURIComponent(task)}/artifacts/${encodeURIComponent(file.artifact_id)}`;
}
