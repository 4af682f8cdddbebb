import { describe, expect, it } from "vitest";

import { marked, spaced as said } from "@/i18n/spacing";

describe("a value in a Japanese sentence", () => {
  it("has no space beside it if both sides are Japanese", () => {
    expect(said(`${marked("花")} が ${marked("空")} に送信`)).toBe("花が空に送信");
    expect(said(`${marked("39.6万")} トークン・起動 ${marked("2")} 回`)).toBe("39.6万トークン・起動 2 回");
  });

  it("keeps the space beside Latin letters and digits, and its own", () => {
    expect(said(`${marked("mia")} が ${marked("東京 大阪")} を`)).toBe("mia が東京 大阪を");
  });

  it("leaves sentences without values as they are", () => {
    expect(said("検索 または 実行")).toBe("検索 または 実行");
  });
});
