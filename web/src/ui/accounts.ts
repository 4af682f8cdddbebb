// How accounts are named: with the providers that they are used with, unless the name is that of the provider.
import { visible } from "@/ui/visible";

export interface NamedAccount {
  account: string;
  providers: readonly string[];
}

/** `second (claude)` */
export const accountName = (of: NamedAccount): string =>
  [visible(of.account), providersBeside(of)].filter(Boolean).join(" ");

/** `(claude)`; empty if the account is called as its only provider. */
export function providersBeside({ account, providers }: NamedAccount): string {
  return providers.every((each) => each === account) ? "" : `(${providers.join(", ")})`;
}
