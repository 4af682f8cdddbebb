import { afterEach, expect, it, vi } from "vitest";

import { get } from "@/api/client";
import { chooseLanguage } from "@/i18n";

afterEach(() => {
  chooseLanguage("en");
  vi.unstubAllGlobals();
});

it("asks the server to speak the page's language, whatever the browser's is", async () => {
  const asked: unknown[] = [];
  vi.stubGlobal("fetch", (_path: string, how: RequestInit) => {
    asked.push((how.headers as Record<string, string>)["Accept-Language"]);
    return Promise.resolve(Response.json({}));
  });
  chooseLanguage("en");
  await get("/needs-you");
  chooseLanguage("ja");
  await get("/needs-you");
  expect(asked).toEqual(["en", "ja"]);
});
