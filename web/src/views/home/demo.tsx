// The demo's team, while it is here: why nobody works on it yet, where to look, where its files are, and how it is put
// away again.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api } from "@/api/client";
import type { Need } from "@/api/model";
import { demo } from "@/api/queries";
import { useOwns } from "@/app/may";
import { useTranslation } from "@/i18n/use-words";
import { Button, Confirm, Panel, useToast } from "@/ui";
import { HintList } from "@/views/home/hint-list";
import { forgetDismissed } from "@/views/home/hints";

export function DemoPanel({ projectId, needs }: { projectId: string | null; needs: readonly Need[] }) {
  const { t } = useTranslation("home");
  const toast = useToast();
  const client = useQueryClient();
  const owns = useOwns();
  const [asking, setAsking] = useState(false);
  const found = useQuery(demo).data;
  async function putAway() {
    await api.delete("/demo");
    forgetDismissed();
    toast.done(t("demoGone"));
    await client.invalidateQueries();
  }
  if (!found?.here || (projectId !== null && !found.projects.includes(projectId))) return null;
  return (
    <Panel>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 p-4">
        <div className="min-w-0 flex-1 basis-60 space-y-1">
          <p>{t("demoHere")}</p>
          <p className="text-[13px] break-all text-faint">{t("demoFiles", { directory: found.directory })}</p>
          {found.waits_for !== null && (
            <p role="status" className="text-[13px] text-amber">
              {found.waits_for}
            </p>
          )}
        </div>
        {owns && (
          <Button small onClick={() => setAsking(true)}>
            {t("demoPutAway")}
          </Button>
        )}
      </div>
      <HintList needs={needs} projectIds={projectId === null ? found.projects : [projectId]} />
      <Confirm
        open={asking}
        title={t("demoPutAwayTitle")}
        action={t("demoPutAway")}
        onClose={() => setAsking(false)}
        onConfirm={putAway}
      >
        {t("demoPutAwayText")}
      </Confirm>
    </Panel>
  );
}
