// What this browser is signed in by, beside its cookie: a secret in the storage of this origin, which is a host and a
// port. The browser sends the cookie by itself, also to what runs at other ports of the same host; this it sends nobody.
const KEY = "toryo.page";
const PROVED = "toryo.proved";

/** Null: nobody is signed in here. */
export const pageSecret = () => localStorage.getItem(KEY);

/** Somebody has signed in, perhaps again, or (null) out. */
export function keepPageSecret(secret: string | null): void {
  if (secret === null) return localStorage.removeItem(KEY);
  localStorage.setItem(KEY, secret);
  localStorage.setItem(PROVED, `${Date.now()} ${Math.random()}`);
}

/** Calls `hear` when somebody signs in in another tab of this browser. */
export function onSignIn(hear: () => void): () => void {
  const heard = ({ key }: StorageEvent) => key === PROVED && hear();
  window.addEventListener("storage", heard);
  return () => window.removeEventListener("storage", heard);
}
