// The bar for marked tasks: loaded with the first mark, it stays for what it is still doing when the marks are gone.
import { useState } from "react";

import { lateComponent } from "@/ui";

import type { BulkProps } from "./bar";

const BulkBar = lateComponent(() => import("./bar").then((part) => part.BulkBar), { beside: true });

export function Bulk(props: BulkProps) {
  const [wanted, setWanted] = useState(false);
  if (props.tasks.length > 0 && !wanted) setWanted(true);
  return wanted ? <BulkBar {...props} /> : null;
}
