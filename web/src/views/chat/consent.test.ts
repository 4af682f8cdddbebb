import { describe, expect, it } from "vitest";

import { consents } from "@/views/chat/consent";

import CASES from "../../../../tests/domain/consent_cases.json";

describe("a message that may approve a task", () => {
  it.each(CASES)("is read here as on the server: $name", ({ message, consents: wanted }) => {
    expect(consents(message)).toBe(wanted);
  });
});
