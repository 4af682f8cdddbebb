// Of the rows only those that are seen are drawn.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect } from "react";

import { useOverscan } from "@/ui";

import { ROW_PX, type ManyRowsProps } from "./first-rows";

export function SeenRows({ count, scroller, place, draw }: ManyRowsProps) {
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller,
    estimateSize: () => ROW_PX,
    overscan: useOverscan(12),
  });
  useEffect(() => {
    if (place >= 0) virtual.scrollToIndex(place);
  }, [place, virtual]);
  return (
    <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map((item) => draw(item.index, item.start))}
    </div>
  );
}
