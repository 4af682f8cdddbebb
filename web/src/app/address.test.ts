// How addresses are written and read: what was written is read again, and what was kept in an earlier way as well.
import { expect, it } from "vitest";

import { addressWith, paramsIn, searchIn } from "@/app/address";

it("reads what it has written, whatever a word looks like", () => {
  for (const q of ["", "oak", "12", "true", "null", '"oak"', '"', '""oak""', "a&b=c #1", "日本 語", '{"a":1}']) {
    const address = addressWith("/p/$projectId/list", { projectId: "a b/c" }, { q });
    const { pathname, search } = new URL(address, "http://localhost");
    expect(searchIn(search)).toEqual({ q });
    expect(paramsIn("/p/$projectId/list", pathname)).toEqual({ projectId: "a b/c" });
  }
});

it("reads addresses that were kept with numbers in quotes, and plain ones", () => {
  expect(searchIn("?q=%2212%22&task=7")).toEqual({ q: "12", task: "7" });
});

it("leaves out what no address says", () => {
  expect(searchIn("?other=1&tab=keys")).toEqual({ tab: "keys" });
});

it("finds a path with a slash at its end, and with a sign that is no code", () => {
  expect(paramsIn("/", "/")).toEqual({});
  expect(paramsIn("/p/$projectId", "/p/shop/")).toEqual({ projectId: "shop" });
  expect(paramsIn("/t/$taskId", "/t/100%")).toEqual({ taskId: "100%" });
  expect(paramsIn("/p/$projectId", "/p/shop/board")).toBeUndefined();
  expect(paramsIn("*", "/nowhere/at/all")).toEqual({});
});
