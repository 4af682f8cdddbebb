// Parts of the page that the first view does not need: they are loaded when they are first wanted.
import {
  createElement,
  useContext,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useState,
  type ComponentType,
} from "react";

import { useWords } from "@/i18n/use-words";
import { holdKeys } from "@/ui/held-keys";
import { ToastContext } from "@/ui/toast";

export interface Late<Part> {
  load: () => Promise<Part>;
  /** Undefined until it has been loaded. */
  now: () => Part | undefined;
}

const all: Late<unknown>[] = [];

/** A script that is loaded once. Where that fails, the next one who wants it asks again. */
export function late<Part>(script: () => Promise<Part>): Late<Part> {
  let [part, coming]: [Part | undefined, Promise<Part> | undefined] = [undefined, undefined];
  const load = () =>
    (coming ??= script().then(
      (found) => (part = found),
      (error: unknown) => {
        coming = undefined;
        throw error;
      },
    ));
  const found = { load, now: () => part };
  all.push(found);
  return found;
}

/** All of them, at once: for tests, which have no first view. */
export const loadAll = () => Promise.all(all.map((each) => each.load()));

/** What was loaded, as soon as it is there and `wanted`. That it cannot be loaded is told, and `lost` ends the wish. */
export function useLate<Part>(of: Late<Part>, wanted = true, lost?: () => void): Part | undefined {
  const [part, setPart] = useState(of.now);
  const toasts = useContext(ToastContext);
  const t = useWords();
  const failed = useEffectEvent(() => {
    toasts?.failed(new Error(t("error.late")));
    lost?.();
  });
  useEffect(() => {
    if (!wanted || part !== undefined) return;
    let here = true;
    of.load().then(
      (found) => here && setPart(() => found),
      () => here && failed(),
    );
    return () => {
      here = false;
    };
  }, [of, part, wanted]);
  return part;
}

interface How<Props> {
  /** It takes no keys, so none are held for it. */
  beside?: boolean;
  /** Where it cannot be loaded. */
  lost?: (props: Props) => void;
}

/** A component whose script is loaded when it is first drawn. */
export function lateComponent<Props extends object>(
  script: () => Promise<ComponentType<Props>>,
  { beside = false, lost }: How<Props> = {},
): ComponentType<Props> {
  const part = late(script);
  return function LateComponent(props: Props) {
    const found = useLate(part, true, () => lost?.(props));
    if (found !== undefined) return createElement(found, props);
    return beside ? null : <HoldsKeys />;
  };
}

/** Stands where something is about to be. */
export function HoldsKeys() {
  useLayoutEffect(holdKeys, []);
  return null;
}
