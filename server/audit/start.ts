import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { sha256 } from '../../sdk/audit/files';
import type { Registry } from '../../sdk/registry';
import { ServerAudit } from './audit';
import { AuditEvents } from './events';

/** What was only counted is written when its minute is over, what a disk or a receiver refused is tried again. */
const EVERY_MS = 5_000;

/** The audit of this process; undefined where the configuration has none. */
export function startAudit({ audit: settings, file }: Pick<Registry, 'audit' | 'file'>): ServerAudit | undefined {
  const log = (line: string): void => void process.stderr.write(`note: ${line}\n`);
  if (settings === null) {
    log(`without audit, nobody can see later who changed what through this server (${file})`);
    return undefined;
  }
  const now = (): number => Date.now();
  const audit = new ServerAudit({ ...settings, server: hostname(), now, log });
  const { events } = settings;
  const sender = events && new AuditEvents({ ...events, file: settings.file, fetch, now, log });
  const say = (error: unknown): void => log(`audit: ${String(error)}`);
  let seen = '';
  const configured = async (): Promise<void> => {
    const digest = sha256(readFileSync(file, 'utf8'));
    if (digest !== seen) await audit.configured(digest);
    seen = digest;
  };
  configured().catch(say);
  setInterval(() => {
    configured().catch(say);
    audit.sumUp().catch(say);
    // Only what waits is written here; who asks hears why it cannot be.
    audit.ready().catch(() => undefined);
    void sender?.run();
  }, EVERY_MS).unref();
  return audit;
}
