import { Link } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Empty } from "@/ui";

export function NotFound() {
  const { t } = useTranslation();
  return (
    <Empty title={t("error.notFound")}>
      <Link to="/" className="link">
        {t("nav.home")}
      </Link>
    </Empty>
  );
}
