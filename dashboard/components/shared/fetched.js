// What does not change is fetched by its address, which names its content: the browser keeps it.
const PATIENCE = [300, 1000, 3000]; // milliseconds between attempts

async function attempt(load) {
  for (const pause of PATIENCE) {
    try {
      return await load();
    } catch {
      await new Promise((done) => setTimeout(done, pause));
    }
  }
  return load();
}

// Opened once; those last asked for stay.
export function fetched(path, open) {
  const kept = (globalThis.bupFetched ??= new Map());
  const found = kept.get(path) ?? attempt(async () => {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return open(answer);
  });
  kept.delete(path);
  kept.set(path, found);
  found.catch(() => kept.delete(path));
  for (const old of [...kept.keys()].slice(0, -24)) kept.delete(old);
  return found;
}

export const bytes = async (answer) => new Uint8Array(await answer.arrayBuffer());
export const json = (answer) => answer.json();
export const imported = (path) => attempt(() => import(new URL(path, document.baseURI).href));
