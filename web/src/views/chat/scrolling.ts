// Where the reader stands: at the bottom new messages move along; who has scrolled up stays where they read, and older
// messages that come in above do not move them.
import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from "react";

const NEAR = 48;

export interface Position {
  scrollTop: number;
  scrollHeight: number;
  clientHeight: number;
}

export function atBottom({ scrollTop, scrollHeight, clientHeight }: Position): boolean {
  return scrollHeight - scrollTop - clientHeight <= NEAR;
}

/** Where to stand after what is shown has changed. */
export function standing(
  before: Position & { first: number; followed: boolean },
  height: number,
  first: number,
): number {
  if (before.followed) return height;
  const above = first < before.first ? height - before.scrollHeight : 0;
  return before.scrollTop + above;
}

interface Scrolling {
  box: RefObject<HTMLDivElement | null>;
  following: boolean;
  onScroll: () => void;
  follow: () => void;
}

/** `first` and `last` name the oldest and the newest thing that is shown; `older` is called near the top. */
export function useScrolling(first: number, last: number | string, older: () => void): Scrolling {
  const box = useRef<HTMLDivElement>(null);
  const before = useRef({ scrollTop: 0, scrollHeight: 0, clientHeight: 0, first, followed: true });
  const [following, setFollowing] = useState(true);

  const note = useCallback(() => {
    const { scrollTop, scrollHeight, clientHeight } = box.current ?? before.current;
    const position = { scrollTop, scrollHeight, clientHeight };
    before.current = { ...before.current, ...position, followed: atBottom(position) };
    setFollowing(before.current.followed);
  }, []);

  useLayoutEffect(() => {
    const shown = box.current;
    if (shown === null) return;
    shown.scrollTop = standing(before.current, shown.scrollHeight, first);
    before.current.first = first;
    note();
  }, [first, last, note]);

  const onScroll = useCallback(() => {
    note();
    if ((box.current?.scrollTop ?? NEAR) < NEAR) older();
  }, [note, older]);

  const follow = useCallback(() => {
    box.current?.scrollTo({ top: box.current.scrollHeight });
    note();
  }, [note]);

  return { box, following, onScroll, follow };
}
