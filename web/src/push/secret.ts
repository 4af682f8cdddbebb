// The secret of this origin (api/secret.ts) where the service worker, which has no other storage, finds it.
const DATABASE = "toryo";
const STORE = "signed-in";
const KEY = "page";

export async function keepForWorker(secret: string | null): Promise<void> {
  const store = await opened("readwrite");
  await done(
    secret === null ? (store.delete(KEY) as IDBRequest<unknown>) : (store.put(secret, KEY) as IDBRequest<unknown>),
  );
}

export async function keptForWorker(): Promise<string | null> {
  const found: unknown = await done((await opened("readonly")).get(KEY));
  return typeof found === "string" ? found : null;
}

async function opened(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  const asked = indexedDB.open(DATABASE, 1);
  asked.onupgradeneeded = () => asked.result.createObjectStore(STORE);
  const database = await done(asked);
  const transaction = database.transaction(STORE, mode);
  transaction.oncomplete = () => database.close();
  return transaction.objectStore(STORE);
}

function done<Result>(asked: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error ?? new Error("The storage of this browser does not answer."));
  });
}
