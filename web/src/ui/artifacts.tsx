// The files that a check has left: pictures are shown small, everything else is a download.
import { Download } from "lucide-react";

import type { Task } from "@/api/model";
import { PREFIX } from "@/api/routes";
import { visible } from "@/ui/visible";

type Result = Task["check_results"][number];
type File = NonNullable<Result["artifacts"]>[number];

/** As the server decides it by the bytes, not by the name: it sends nothing else to be shown. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export function Artifacts({ task, files, size }: { task: string; files: File[]; size: (bytes: number) => string }) {
  return (
    <ul className="mt-1 flex flex-wrap items-end gap-2">
      {files.map((each) => (
        <li key={each.artifact_id} className="max-w-full min-w-0">
          <Artifact file={each} at={addressOf(task, each)} size={size(each.bytes)} />
        </li>
      ))}
    </ul>
  );
}

function Artifact({ file, at, size }: { file: File; at: string; size: string }) {
  const name = visible(file.name);
  const picture = PICTURES.includes(file.media_type);
  return (
    <a
      href={at}
      {...(picture ? { target: "_blank", rel: "noreferrer" } : { download: "" })}
      className="inline-flex max-w-full flex-col gap-1 rounded-md text-xs text-accent hover:underline"
    >
      {picture && (
        <img
          src={at}
          alt=""
          loading="lazy"
          className="h-24 max-w-full rounded-md border border-line bg-sunken object-contain"
        />
      )}
      <span className="flex min-w-0 items-baseline gap-1">
        {!picture && <Download size={12} className="shrink-0 self-center" aria-hidden />}
        <span className="min-w-0 break-all">{name}</span>
        <span className="shrink-0 text-faint">{size}</span>
      </span>
    </a>
  );
}

function addressOf(task: string, file: File): string {
  return `${PREFIX}/tasks/${encodeURIComponent(task)}/artifacts/${encodeURIComponent(file.artifact_id)}`;
}
