// A part of the overview of a task, with its title.
import type { ReactNode } from "react";

export function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-2 flex items-baseline gap-2 text-[13px] font-semibold">
        {title}
        <span className="font-normal text-faint">{aside}</span>
      </h3>
      {children}
    </section>
  );
}
