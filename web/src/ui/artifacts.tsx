// The files that a check has left: pictures are shown small, everything else is a download.
import { Download } from "lucide-react";
import { useEffect, useState, type ReactNode } from "react";

import { open } from "@/api/client";
import type { Task } from "@/api/model";
import { PREFIX } from "@/api/routes";
import { useToast } from "@/ui/toast";
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
  const toast = useToast();
  const save = (file: LeftFile) => saved(task, file).catch((error: unknown) => toast.failed(error));
  return (
    <>
      {pictures.length > 0 && (
        <ul className="mt-1.5 grid grid-cols-[repeat(auto-fill,minmax(7.5rem,1fr))] gap-3">
          {pictures.map((each) => (
            <li key={each.artifact_id} className="min-w-0">
              <Picture task={task} file={each} />
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
                onClick={(event) => {
                  event.preventDefault(); // the browser by itself would ask without the page's secret
                  void save(each);
                }}
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

function Picture({ task, file }: { task: string; file: LeftFile }) {
  const address = addressOf(task, file);
  const [shown, setShown] = useState<string>();
  useEffect(() => {
    const leaving = new AbortController();
    let made: string | undefined;
    const read = async () => {
      const answer = await open(address, { signal: leaving.signal });
      const bytes = await answer.blob();
      if (!leaving.signal.aborted) setShown((made = URL.createObjectURL(bytes)));
    };
    read().catch(() => undefined); // the frame stays empty, and its name stands below
    return () => {
      leaving.abort();
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [address]);
  return (
    <a
      href={shown ?? address}
      target="_blank"
      rel="noreferrer"
      className="flex flex-col gap-1 rounded-md text-xs text-accent hover:underline"
    >
      <img src={shown} alt="" className="h-24 w-full rounded-md border border-line bg-sunken object-contain" />
      <Name file={file} />
    </a>
  );
}

/** Under the name that the server gives it. */
async function saved(task: string, file: LeftFile): Promise<void> {
  const answer = await open(addressOf(task, file));
  const said = /filename\*=UTF-8''([^;]+)/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = said === undefined ? "" : decodeURIComponent(said);
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
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
