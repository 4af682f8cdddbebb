// The saved views in the menu of their project, each with how many tasks it shows now.
import { useQueryClient } from "@tanstack/react-query";
import { Bookmark, EllipsisVertical, Pencil, Trash2, Users } from "lucide-react";
import { useState } from "react";

import type { SavedView } from "@/api/model";
import { savedViews } from "@/api/queries";
import { deleteView } from "@/api/views";
import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { IconButton, Menu, MenuItem, useToast } from "@/ui";

import { EditView } from "./save";
import { isSame, leadsTo, useSaved, useShown, viewOf } from "./use-saved";

export function SavedViews({ projectId }: { projectId: string }) {
  const { t } = useTranslation();
  const saved = useSaved(projectId);
  const shown = useShown();
  const [editing, setEditing] = useState<SavedView | null>(null);
  if (saved.length === 0) return null;
  return (
    <div>
      <h2 className="px-2 pb-1 text-xs text-faint">{t("saved.title")}</h2>
      <ul className="space-y-0.5">
        {saved.map((each) => (
          <Line key={each.view_id} saved={each} here={isSame(each, shown)} onEdit={() => setEditing(each)} />
        ))}
      </ul>
      {editing !== null && <EditView saved={editing} onClose={() => setEditing(null)} />}
    </div>
  );
}

function Line({ saved, here, onEdit }: { saved: SavedView; here: boolean; onEdit: () => void }) {
  const { t } = useTranslation();
  const Icon = viewOf(saved)?.icon ?? Bookmark;
  return (
    <li className="group flex items-center">
      <Link
        {...leadsTo(saved)}
        aria-current={here ? "page" : undefined}
        className={`flex h-8 min-w-0 flex-1 items-center gap-2.5 rounded-md px-2 transition-colors ${here ? "bg-panel font-medium text-ink shadow-sm" : "text-soft hover:bg-panel hover:text-ink"}`}
      >
        <Icon size={16} className="shrink-0" aria-hidden />
        <span className="min-w-0 flex-1 truncate">{saved.name}</span>
        {saved.everybody && (
          <Users size={12} className="shrink-0 text-faint" role="img" aria-label={t("saved.shared")} />
        )}
        {saved.count !== null && (
          <span className="text-xs text-faint tabular-nums">
            <span aria-hidden>{saved.count}</span>
            <span className="sr-only">{t("saved.count", { count: saved.count })}</span>
          </span>
        )}
      </Link>
      {saved.may_edit && <Acts saved={saved} onEdit={onEdit} />}
    </li>
  );
}

function Acts({ saved, onEdit }: { saved: SavedView; onEdit: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const toast = useToast();
  const remove = async () => {
    await deleteView(saved.view_id);
    await client.invalidateQueries({ queryKey: savedViews(saved.project_id).queryKey });
    toast.done(t("saved.deleted", { name: saved.name }));
  };
  return (
    <Menu
      trigger={
        <IconButton
          label={t("saved.acts", { name: saved.name })}
          small
          className="opacity-0 group-hover:opacity-100 focus-visible:opacity-100 aria-expanded:opacity-100 [@media(hover:none)]:opacity-100"
        >
          <EllipsisVertical size={14} />
        </IconButton>
      }
    >
      <MenuItem onSelect={onEdit}>
        <Pencil size={14} aria-hidden />
        {t("saved.rename")}
      </MenuItem>
      <MenuItem onSelect={() => void remove().catch(toast.failed)}>
        <Trash2 size={14} aria-hidden />
        {t("saved.delete")}
      </MenuItem>
    </Menu>
  );
}
