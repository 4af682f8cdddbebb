import { expect, it } from "vitest";

import { bytes } from "@/ui/bytes";

it("says sizes in the unit that leaves a number to be read", () => {
  expect(bytes(0, "en")).toBe("0 bytes");
  expect(bytes(4_096, "en")).toBe("4.1 kB");
  expect(bytes(12_600_000, "en")).toBe("13 MB");
  expect(bytes(2_000_000_000_000_000, "en")).toBe("2,000 TB");
});
