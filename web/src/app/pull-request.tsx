// The pull request of a task's work: its number, how it stands, and the way to it.
import { GitPullRequest } from "lucide-react";

import type { PullRequest } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { Badge } from "@/ui";

const TONES = { open: "blue", merged: "green", closed: "amber" } as const;

export function PullRequestLink({ of }: { of: PullRequest }) {
  const { t } = useTranslation();
  const says = (
    <Badge tone={TONES[of.state]}>
      <GitPullRequest size={13} aria-hidden />
      {t("pullRequest.named", { number: of.number, state: t(`pullRequest.${of.state}`) })}
    </Badge>
  );
  if (!of.url.startsWith("https://")) return says;
  return (
    <a
      href={of.url}
      target="_blank"
      rel="noreferrer noopener nofollow"
      title={of.url}
      className="inline-flex items-center hover:underline max-sm:min-h-11"
    >
      {says}
    </a>
  );
}
