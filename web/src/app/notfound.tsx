import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Empty } from "@/ui";

export function NotFound() {
  const { t } = useTranslation();
  return (
    <Empty title={t("error.notFound")}>
      <Link to="/" className="text-accent underline">
        {t("nav.home")}
      </Link>
    </Empty>
  );
}
