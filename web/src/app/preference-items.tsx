// What the person's own corner offers: theme, language, leaving.
import { useQuery } from "@tanstack/react-query";
import { Check, Languages, LogOut, Monitor, Moon, Sun } from "lucide-react";
import { useState } from "react";

import { api } from "@/api/client";
import { me, queryClient } from "@/api/queries";
import { keepPageSecret } from "@/api/secret";
import { forgetSignedOut, leavesNow } from "@/app/back";
import { navigate } from "@/app/routing";
import { chooseTheme, chosenTheme, type Theme } from "@/app/theme";
import { chooseLanguage, type Language } from "@/i18n";
import { useTranslation } from "@/i18n/use-words";
import { keepForWorker } from "@/push/secret";
import { MenuItem, MenuLine, useToast } from "@/ui";

const THEMES: readonly [Theme, typeof Sun][] = [
  ["light", Sun],
  ["dark", Moon],
  ["system", Monitor],
];
const LANGUAGES: readonly [Language, string][] = [
  ["en", "English"],
  ["ja", "日本語"],
];

export function PreferenceItems() {
  const { t, i18n } = useTranslation();
  const [theme, setTheme] = useState(chosenTheme());
  const toast = useToast();
  const name = useQuery(me).data?.name ?? "";
  async function leave() {
    try {
      leavesNow();
      await api.post("/sign-out");
      keepPageSecret(null);
      void keepForWorker(null).catch(() => undefined);
      queryClient.clear();
      await navigate({ to: "/sign-in" });
    } catch (error) {
      forgetSignedOut();
      toast.failed(error);
    }
  }
  return (
    <>
      <p className="px-2.5 py-1.5 font-medium">{name}</p>
      <MenuLine />
      {THEMES.map(([each, Icon]) => (
        <MenuItem
          key={each}
          onSelect={() => {
            chooseTheme(each);
            setTheme(each);
          }}
        >
          <Icon size={15} aria-hidden />
          {t(`app.theme.${each}`)}
          {theme === each && <Check size={14} className="ml-auto" aria-hidden />}
        </MenuItem>
      ))}
      <MenuLine />
      {LANGUAGES.map(([each, words]) => (
        <MenuItem key={each} onSelect={() => chooseLanguage(each)}>
          <Languages size={15} aria-hidden />
          <span lang={each}>{words}</span>
          {i18n.language === each && <Check size={14} className="ml-auto" aria-hidden />}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem onSelect={() => void leave()}>
        <LogOut size={15} aria-hidden />
        {t("app.signOut")}
      </MenuItem>
    </>
  );
}
