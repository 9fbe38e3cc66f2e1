// Fetching files whose address is the hash of their content: the browser caches them.
const PAUSES = [300, 1000, 3000]; // milliseconds between attempts

async function retry(load) {
  for (const pause of PAUSES) {
    try {
      return await load();
    } catch {
      await new Promise((done) => setTimeout(done, pause));
    }
  }
  return load();
}

// A file, fetched and opened once; the last 24 stay in memory.
export function fetchOnce(path, open) {
  const files = (globalThis.bupFetched ??= new Map());
  const file = files.get(path) ?? retry(async () => {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return open(answer);
  });
  files.delete(path);
  files.set(path, file);
  file.catch(() => files.delete(path));
  for (const old of [...files.keys()].slice(0, -24)) files.delete(old);
  return file;
}

export const bytes = async (answer) => new Uint8Array(await answer.arrayBuffer());
export const json = (answer) => answer.json();
export const importModule = (path) => retry(() => import(new URL(path, document.baseURI).href));
