// Where I am signed in myself, with a way out of each.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { MonitorSmartphone } from "lucide-react";

import { api } from "@/api/client";
import type { SignIn } from "@/api/model";
import { signIns } from "@/api/queries";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Badge, Button, Failed, Loading, Panel, useToast } from "@/ui";

export function Browsers() {
  const { t } = useTranslation("sessions");
  const found = useQuery(signIns);
  return (
    <Panel title={t("browsers")}>
      {found.isPending && <Loading rows={2} />}
      {found.isError && <Failed error={found.error} />}
      <ul>
        {found.data?.map((each) => (
          <Browser key={each.sign_in_id} each={each} />
        ))}
      </ul>
    </Panel>
  );
}

function Browser({ each }: { each: SignIn }) {
  const { t, i18n } = useTranslation("sessions");
  const toast = useToast();
  const client = useQueryClient();
  async function signOut() {
    try {
      await api.delete("/sign-ins/{sign_in_id}", { path: { sign_in_id: each.sign_in_id } });
      await client.invalidateQueries({ queryKey: ["sign-ins"] });
      toast.done(t("signedOut"));
    } catch (error) {
      toast.failed(error);
    }
  }
  const how = t(`how.${each.how}` as "how.link", { defaultValue: each.how });
  const until = new Date(each.expires_at).toLocaleDateString(i18n.language, { dateStyle: "medium" });
  return (
    <li className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-3 last:border-0">
      <MonitorSmartphone size={20} className="text-faint" aria-hidden />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          {browserName(each.browser) ?? t("unknownBrowser")}
          {each.this_one && <Badge tone="green">{t("thisOne")}</Badge>}
        </p>
        <p className="text-[13px] text-soft">
          {t("signedIn", { how })} <Ago at={each.created_at} /> · {t("until", { time: until })}
        </p>
      </div>
      {!each.this_one && (
        <Button small onClick={() => void signOut()}>
          {t("signOut")}
        </Button>
      )}
    </li>
  );
}

const BROWSERS: readonly [RegExp, string][] = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\//, "Firefox"],
  [/Chrome\//, "Chrome"],
  [/Safari\//, "Safari"],
];
const SYSTEMS: readonly [RegExp, string][] = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Mac OS X/, "macOS"],
  [/Windows/, "Windows"],
  [/Linux/, "Linux"],
];

/** `Firefox · macOS`, from what a browser says of itself; the order matters: most say they are Safari, too. */
export function browserName(said: string | null): string | null {
  if (said === null) return null;
  const name = BROWSERS.find(([sign]) => sign.test(said))?.[1];
  const system = SYSTEMS.find(([sign]) => sign.test(said))?.[1];
  return [name, system].filter(Boolean).join(" · ") || said.slice(0, 60);
}
