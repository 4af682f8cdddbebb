// In which time zone a schedule that is made in the form has its clock.
import { describe, expect, it } from "vitest";
import { KINDS, fieldsOf, ruleOf } from "@/views/settings/schedule-said";

describe("what is sent of the time of a schedule", () => {
  const said = { ...fieldsOf(null), time_zone: "Asia/Tokyo", once: "2031-01-31T09:30", after: "tsk_1" };

  it.each(KINDS)("names the time zone of {date} and {time} for a new one: %s", (kind) => {
    expect(ruleOf({ ...said, kind }, null)).toMatchObject({ time_zone: "Asia/Tokyo" });
  });

  it("leaves the time zone of an interval that is changed", () => {
    const before = { ...said, kind: "every" as const };
    expect(ruleOf({ ...before, minutes: "90" }, before)).toEqual({ every_seconds: 5400 });
  });
});
