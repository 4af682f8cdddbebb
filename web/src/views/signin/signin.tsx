// The door: the code of a link opens it by itself; who has none is told how to get one, or gives a password.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { LoaderCircle } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { api } from "@/api/client";
import { me, waysIn } from "@/api/queries";
import { forgetSignedOut, signedOutElsewhere, takeBack } from "@/app/back";
import { navigate, useHash } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Copyable, Failed } from "@/ui";
import { PasswordForm, type Given } from "@/views/signin/password";

export function SignIn() {
  const { t } = useTranslation("signin");
  const { enter, refused, entering } = useEntering();
  const [ended] = useState(signedOutElsewhere);
  const provider = useQuery(waysIn).data?.provider ?? null;
  return (
    <main className="flex min-h-dvh items-start justify-center p-4 sm:items-center">
      <div className="w-full max-w-md space-y-5 py-8">
        <header className="flex items-center gap-3">
          <img src="/favicon.svg" alt="" width={36} height={36} />
          <h1 className="text-xl font-semibold tracking-tight">{t("title")}</h1>
        </header>
        {ended && (
          <p role="status" className="rounded-lg border border-amber bg-amber-soft px-4 py-3 text-amber">
            {t("signedOut", { ns: "translation" })}
          </p>
        )}
        {refused !== null && (
          <div className="rounded-lg border border-red bg-red-soft">
            <Failed error={refused} />
          </div>
        )}
        {entering ? (
          <p role="status" className="flex items-center gap-2 text-soft">
            <LoaderCircle size={18} className="animate-spin" aria-hidden />
            {t("entering")}
          </p>
        ) : (
          <div className="divide-y divide-line rounded-xl border border-line bg-panel shadow-[var(--shadow)]">
            <section className="space-y-3 p-5">
              <h2 className="font-medium">{t("link")}</h2>
              <p className="text-soft">{t("linkHow")}</p>
              <Copyable text="toryo open" />
            </section>
            {provider !== null && (
              <section className="space-y-3 p-5">
                <h2 className="font-medium">{t("provider")}</h2>
                <a
                  href="/sign-in/oidc"
                  className="inline-flex h-9 items-center rounded-md bg-accent px-3 font-medium text-accent-ink hover:brightness-110"
                >
                  {t("providerGo", { host: provider })}
                </a>
              </section>
            )}
            <section className="space-y-3 p-5">
              <h2 className="font-medium">{t("password")}</h2>
              <PasswordForm onGiven={enter} />
            </section>
          </div>
        )}
      </div>
    </main>
  );
}

interface Entering {
  enter: (given: Given | { code: string }) => Promise<void>;
  refused: unknown;
  entering: boolean;
}

/** Signs in and goes on; the code of an address is used once and does not stay in it. */
function useEntering(): Entering {
  const code = useHash();
  const [state, setState] = useState<{ refused: unknown; entering: boolean }>({ refused: null, entering: code !== "" });
  const client = useQueryClient();
  const used = useRef("");

  async function enter(given: Given | { code: string }): Promise<void> {
    setState({ refused: null, entering: true });
    try {
      await api.post("/sign-in", { body: given });
      client.clear();
      await client.fetchQuery(me);
      forgetSignedOut();
      void navigate({ to: takeBack(), replace: true });
    } catch (error) {
      setState({ refused: error, entering: false });
    }
  }

  useEffect(() => {
    if (code === "" || used.current === code) return;
    used.current = code;
    void navigate({ to: "/sign-in", replace: true }).then(() => enter({ code }));
  });

  return { enter, ...state };
}
