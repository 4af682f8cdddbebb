// One's own corner: how the page looks, another device, the password, tokens for programs.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { me, projects } from "@/api/queries";
import { Link } from "@/app/routing";
import { chooseTheme, chosenTheme, type Theme } from "@/app/theme";
import { chooseLanguage } from "@/i18n";
import { useTranslation } from "@/i18n/use-words";
import { Panel, SelectField } from "@/ui";
import { MakeLink } from "@/views/settings/link";
import { Notifications } from "@/views/settings/notifications";
import { Head } from "@/views/settings/parts";
import { PasswordForm } from "@/views/settings/password";
import { Tokens } from "@/views/settings/tokens";

const THEMES: readonly Theme[] = ["system", "light", "dark"];

export function MeTab() {
  const { t, i18n } = useTranslation("settings");
  const person = useQuery(me).data;
  const project = useQuery(projects).data?.[0];
  const [theme, setTheme] = useState(chosenTheme());
  return (
    <>
      <Head
        title={t("tabs.me")}
        help={person ? `${t("you.signedIn", { name: person.name })} · ${t(`person.logins.${person.login}`)}` : ""}
      />
      <Panel title={t("you.preferences")}>
        <div className="grid gap-4 p-4 sm:grid-cols-2">
          <SelectField
            label={t("you.theme")}
            value={theme}
            onChange={(next) => {
              chooseTheme(next);
              setTheme(next);
            }}
            choices={THEMES.map((value) => ({ value, label: t(`app.theme.${value}`) }))}
          />
          <SelectField
            label={t("you.language")}
            value={i18n.language === "ja" ? "ja" : "en"}
            onChange={chooseLanguage}
            choices={[
              { value: "en", label: "English" },
              { value: "ja", label: "日本語" },
            ]}
          />
        </div>
      </Panel>
      <Notifications />
      <Panel
        title={t("you.another")}
        aside={
          project && (
            <Link to="/p/$projectId/sessions" params={{ projectId: project.project_id }} className="text-[13px] link">
              {t("you.browsers")}
            </Link>
          )
        }
      >
        <div className="space-y-3 p-4">
          <p className="text-soft">{t("you.anotherHelp")}</p>
          <MakeLink person={null} />
        </div>
      </Panel>
      <Panel title={t("you.password")}>
        <div className="max-w-sm p-4">
          {person && <PasswordForm personId={person.person_id} own done={() => undefined} />}
        </div>
      </Panel>
      <Tokens />
    </>
  );
}
