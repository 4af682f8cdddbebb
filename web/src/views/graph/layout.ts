// Where each task stands: computed by ELK in a worker, so that the page stays quick while it thinks.
import ELK, { type ELK as Engine, type ElkNode } from "elkjs/lib/elk-api.js";
import workerUrl from "elkjs/lib/elk-worker.min.js?url";
import { useEffect, useState } from "react";

import type { BoardTask } from "@/api/model";

import { layoutInput, type Link, type Place } from "./flow";

export interface Layout {
  asked: string;
  places: ReadonlyMap<string, Place>;
}

let engine: Engine | null = null;

/** One worker for as long as the page is open: it is large, and does one thing after the other. */
function worker(): Engine {
  engine ??= new ELK({ workerUrl });
  return engine;
}

/** The last layout that is ready; null before the first. What is asked is compared as text: a task that only moves on
 * needs no new layout. */
export function useLayout(
  tasks: readonly BoardTask[],
  links: readonly Link[],
  downwards: boolean,
): { layout: Layout | null; failed: unknown } {
  const [layout, setLayout] = useState<Layout | null>(null);
  const [failed, setFailed] = useState<unknown>(null);
  const asked = JSON.stringify(layoutInput(tasks, links, downwards));
  useEffect(() => {
    let wanted = true;
    worker()
      .layout(JSON.parse(asked) as ElkNode)
      .then((found) => wanted && setLayout({ asked, places: placesOf(found) }))
      .catch((error: unknown) => wanted && setFailed(error));
    return () => {
      wanted = false;
    };
  }, [asked]);
  return { layout, failed };
}

function placesOf(found: ElkNode): Map<string, Place> {
  return new Map((found.children ?? []).map((each) => [each.id, { x: each.x ?? 0, y: each.y ?? 0 }]));
}
