import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import { createGatekeeper, type Gatekeeper, type GatekeeperOptions, type GateUser } from '../../sdk';

/** A page whose new version is behind a gate; the old one stays until the gate is open to every user. */
export const checkoutPage = (gates: Gatekeeper, user: GateUser): string =>
  gates.check('checkout', user) ? 'one page' : 'four steps';

/** Gates from files, followed as they change; a service gets them from its configuration proxy instead. */
export const gatesIn = (folder: string, options: Partial<GatekeeperOptions> = {}): Gatekeeper =>
  createGatekeeper({
    subscribe: (path, onValue) => followFile(join(folder, `${path}.json`), (value) => void onValue(value)),
    ...options,
  });

const LOOK_EVERY_MS = 1_000;

function followFile(file: string, onValue: (value: unknown) => void): () => void {
  const read = (): void => onValue(valueIn(file));
  watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, read);
  read();
  return () => unwatchFile(file, read);
}

/** A half-written file is not a project, and the gatekeeper refuses it: the previous project stays. */
function valueIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : null;
  }
}
