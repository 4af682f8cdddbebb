// What a person does with a project: one function for each verb.
import { api } from "@/api/client";
import { inProject, type BodyOf } from "@/api/routes";

export function moveProject(projectId: string, verb: "pause" | "resume" | "archive") {
  return api.post(`/projects/{project_id}/${verb}`, inProject(projectId));
}

export type ProjectEdit = BodyOf<"patch", "/projects/{project_id}">;

/** With `preview` nothing is changed: the answer says which rights it would widen. */
export function editProject(projectId: string, edit: ProjectEdit, version: number) {
  return api.patch("/projects/{project_id}", { ...inProject(projectId), body: edit, version });
}
