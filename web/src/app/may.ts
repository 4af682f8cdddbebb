// The rights of the current user. Every view asks here before it shows a control: viewers see no controls that change
// anything, members none that only owners may use. The server checks rights in any case. Everyone may change their own
// browsers, password and tokens.
import { useQuery } from "@tanstack/react-query";

import type { Me } from "@/api/model";
import { me } from "@/api/queries";
import { useLooksBack } from "@/app/past/past";

/** `write`: tasks, chats, sessions, whether things run. `own`: projects, agents, API keys, people. */
export type Deed = "write" | "own";

const LOGINS: Record<Deed, readonly Me["login"][]> = { write: ["owner", "member"], own: ["owner"] };

export function may(login: Me["login"], deed: Deed): boolean {
  return LOGINS[deed].includes(login);
}

/** Nothing is shown before the frame knows who looks; without a frame (one part by itself) nothing is held back. Who
 * looks at the past changes nothing. */
export function useMay(): (deed: Deed) => boolean {
  const login = useQuery(me).data?.login;
  const past = useLooksBack();
  return (deed) => !past && (login === undefined || may(login, deed));
}

export const useWrites = (): boolean => useMay()("write");

export const useOwns = (): boolean => useMay()("own");
