// Linking and unlinking: shown at once, taken back when refused; a circle is told with its path.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { Refused } from "@/api/client";
import type { BoardTask } from "@/api/model";
import { relink } from "@/api/tasks";
import { useTranslation } from "@/i18n/use-words";
import { useToast } from "@/ui";

export interface Circle {
  ids: string[];
  error: Refused;
}

export function useLinking(projectId: string, tasks: readonly BoardTask[]) {
  const { t } = useTranslation("graph");
  const client = useQueryClient();
  const toast = useToast();
  const [circle, setCircle] = useState<Circle | null>(null);

  async function change(from: string, to: string, how: "add" | "remove"): Promise<void> {
    const card = tasks.find((each) => each.task_id === to);
    if (card === undefined || from === to) return;
    setCircle(null);
    try {
      await relink(client, projectId, card, { [`${how}_dependencies`]: [from] });
      toast.done(
        t(how === "add" ? "linked" : "unlinked"),
        () => void change(from, to, how === "add" ? "remove" : "add"),
      );
    } catch (error) {
      const ids = circleOf(error);
      if (ids === null) toast.failed(error);
      else setCircle({ ids, error: error as Refused });
    }
  }
  return {
    circle,
    forget: () => setCircle(null),
    link: (from: string, to: string) => void change(from, to, "add"),
    unlink: (from: string, to: string) => void change(from, to, "remove"),
  };
}

/** The ids of the circle that a refusal names. */
export function circleOf(error: unknown): string[] | null {
  if (!(error instanceof Refused)) return null;
  const { cycle } = error.problem;
  return Array.isArray(cycle) && cycle.every((each) => typeof each === "string") ? cycle : null;
}
