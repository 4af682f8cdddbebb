// Saved views: a view of a project as it was narrowed, under a name, for oneself or for everybody.
import { api } from "@/api/client";
import { inProject, type BodyOf } from "@/api/routes";

export type NewView = BodyOf<"post", "/projects/{project_id}/views">;

const ofView = (viewId: string) => ({ path: { view_id: viewId } });

export const saveView = (projectId: string, body: NewView) =>
  api.post("/projects/{project_id}/views", { ...inProject(projectId), body });

export const editView = (viewId: string, body: BodyOf<"patch", "/views/{view_id}">) =>
  api.patch("/views/{view_id}", { ...ofView(viewId), body });

export const deleteView = (viewId: string) => api.delete("/views/{view_id}", ofView(viewId));
