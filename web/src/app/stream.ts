// What a page does with the stream of events: what has happened makes stale what it concerns. After a break it goes on
// where it stopped. The connection itself is one for all tabs (`one-stream.ts`).
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import type { Sign } from "@/api/model";
import { liveLaunches } from "@/api/queries";
import { become, hearers, runs, watched } from "@/app/live";
import { OneStream } from "@/app/one-stream";
import { Stale } from "@/app/stale";

const seen = () => document.visibilityState !== "hidden";

export function Stream({ since, who }: { since: number; who: string }) {
  useStream(since, who);
  return null;
}

/** Whether a tab out of view keeps what has this key fresh. */
function isWatched(key: readonly unknown[]): boolean {
  return [...watched.keys()].some((each) => {
    const wanted = JSON.parse(each) as unknown[];
    return wanted.every((part, place) => JSON.stringify(part) === JSON.stringify(key[place]));
  });
}

/** Takes part in the stream while the component is there. `since`: the newest event when the page had read nothing else:
 * what happens while it reads is told, too. `who`: whose sign-in it is. */
export function useStream(since: number, who: string): void {
  const client = useQueryClient();
  const last = useRef(since);
  useEffect(() => {
    const stale = new Stale(client, seen, isWatched);
    const stream = new OneStream(who, last.current, {
      heard: (event) => {
        last.current = event.sequence;
        stale.add(event);
        for (const each of hearers) each(event);
      },
      showed: (sign) => showed(client, sign),
      again: () => stale.everything(),
      became: (next) => {
        if (next === "live") void client.invalidateQueries({ queryKey: liveLaunches.queryKey }); // signs are told once
        become(next);
      },
      lost: () => leave(client),
      wants: () => seen() || watched.size > 0,
      seen,
    });
    const looked = () => {
      stream.looked();
      stale.looked();
    };
    runs(stream);
    stream.start();
    document.addEventListener("visibilitychange", looked);
    return () => {
      document.removeEventListener("visibilitychange", looked);
      runs(null);
      stream.stop();
      become("connecting");
    };
  }, [client, who]);
}

/** An agent has gone on to do something else. */
function showed(client: QueryClient, { launch_id, doing }: Sign): void {
  client.setQueryData(liveLaunches.queryKey, (known) =>
    known?.map((launch) => (launch.launch_id === launch_id ? { ...launch, doing } : launch)),
  );
}

/** A break may be a sign-out: who I am is asked, and the answer leads to the door. */
function leave(client: QueryClient): void {
  void client.invalidateQueries({ queryKey: ["me"] });
}
