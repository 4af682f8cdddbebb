// The link to a pull request: only to https, and without a way back into the dashboard.
import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";

import { PullRequestLink } from "@/app/pull-request";
import { show } from "@/testkit";

afterEach(cleanup);

it("leads to the pull request, which gets no hold of the dashboard", async () => {
  await show(<PullRequestLink of={{ url: "https://github.com/shop/till/pull/7", number: 7, state: "open" }} />);
  const link = screen.getByRole("link", { name: "Pull request 7: open" });
  expect(link.getAttribute("href")).toBe("https://github.com/shop/till/pull/7");
  expect(link.getAttribute("rel")).toContain("noopener");
});

it("leads nowhere but to https", async () => {
  await show(<PullRequestLink of={{ url: "javascript:alert(1)", number: 7, state: "closed" }} />);
  expect(screen.getByText("Pull request 7: closed")).toBeTruthy();
  expect(screen.queryByRole("link")).toBeNull();
});
