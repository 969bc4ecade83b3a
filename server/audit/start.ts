import { hostname } from 'node:os';
import type { LiveRegistry } from '../../settings/liveRegistry';
import { ServerAudit } from './audit';
import { AuditEvents } from './events';

/** How often counted refusals are written and failed writes are retried. */
const AUDIT_FLUSH_INTERVAL_MS = 5_000;

/** The audit of this process; undefined if the configuration has none. */
export function startAudit(live: Pick<LiveRegistry, 'current' | 'digest' | 'onChange'>): ServerAudit | undefined {
  const { audit: settings, file } = live.current();
  const log = (line: string): void => void process.stderr.write(`note: ${line}\n`);
  if (settings === null) {
    log(`without audit, there is no record of who changed what through this server (${file})`);
    return undefined;
  }
  const now = (): number => Date.now();
  const { events, ...rest } = settings;
  const sender = events && new AuditEvents({ ...events, file: settings.file, fetch, now, log });
  const audit = new ServerAudit({ ...rest, server: hostname(), now, log, ...(sender ? { events: sender } : {}) });
  const logError = (error: unknown): void => log(`audit: ${String(error)}`);
  let noted = '';
  const configured = async (): Promise<void> => {
    const digest = live.digest();
    if (digest !== noted) await audit.recordConfiguration(digest);
    noted = digest;
  };
  configured().catch(logError);
  live.onChange(() => void configured().catch(logError));
  setInterval(() => {
    // A configuration that could not be compared with the last one on record.
    configured().catch(logError);
    audit.sumUp().catch(logError);
    // This only flushes waiting records. A caller that needs the audit gets the error itself.
    audit.ready().catch(() => undefined);
    void sender?.run();
  }, AUDIT_FLUSH_INTERVAL_MS).unref();
  return audit;
}
