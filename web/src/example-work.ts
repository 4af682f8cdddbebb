// For tests of whole views: the work that a task has left, and what a Coordinator answers about it.
import type { Diff, Worktree, WorktreeJob } from "@/api/model";

const AT = "2026-01-01T00:00:00Z";

export const work: Worktree = {
  task_id: "t1",
  title: "Show prices",
  assignee_id: "ada",
  review: "to_review",
  changes_requested: null,
  unmerged: [],
  pull_request: null,
  project_id: "shop",
  coordinator_id: "here",
  path: "/srv/trees/t1",
  directory: "/srv/trees/t1",
  branch: "toryo/t1",
  base_branch: "main",
  base_commit: "0123456789abcdef",
  head_commit: "fedcba9876543210",
  commits: 1,
  files_changed: 1,
  insertions: 1,
  deletions: 1,
  state: "open",
  merged_commit: null,
  merged_into: null,
  trouble: null,
  created_at: AT,
  updated_at: AT,
};

const diff: Diff = {
  patch: "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-one\n+two\n",
  files: [{ path: "a.py", old_path: null, status: "modified", insertions: 1, deletions: 1, binary: false }],
  files_in_all: 1,
  truncated: false,
  head: "fed",
  base: "012",
  trouble: null,
  hindered_by: null,
};
export const worktreeJob: WorktreeJob = {
  job_id: "job_1",
  kind: "diff",
  task_id: "t1",
  project_id: "shop",
  asked_by: "olga",
  asked_at: AT,
  finished_at: AT,
  done: true,
  answer: diff,
};
