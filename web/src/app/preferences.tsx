// The person's own corner.
import { useQuery } from "@tanstack/react-query";

import { me } from "@/api/queries";
import { Avatar, Menu, lateComponent } from "@/ui";

const Items = lateComponent(() => import("@/app/preference-items").then((part) => part.PreferenceItems));

export function Preferences() {
  const person = useQuery(me).data;
  const name = person?.name ?? "";
  return (
    <Menu
      trigger={
        <button type="button" aria-label={name} className="rounded-full">
          <Avatar id={person?.person_id ?? "me"} name={name} size={28} />
        </button>
      }
    >
      <Items />
    </Menu>
  );
}
