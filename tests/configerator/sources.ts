import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type Files = Readonly<Record<string, string | Buffer>>;

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** A new folder with these files. */
export function folderOf(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-config-'));
  folders.push(folder);
  write(folder, files);
  return folder;
}

export function write(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** A schema with an owner who checks it, and a shared module that others import it through. */
export const LIMITS: Files = {
  'feed/limits.schema.ts': `import { z } from 'zod';
export const limits = z.strictObject({ soft: z.number(), hard: z.number().default(100) });`,
  'feed/limits.validate.ts': `import { invariant } from 'conveyor/config';
import { limits } from './limits.schema';
export const softBelowHard = invariant(limits, ({ soft, hard }) => soft <= hard || \`soft \${soft} is above hard \${hard}\`);`,
  'feed/shared.ts': `export { limits } from './limits.schema';
export const SOFT: number = 50;`,
  'feed/limits.config.ts': `import { defineConfig } from 'conveyor/config';
import { limits, SOFT } from './shared';
export default defineConfig(limits, { soft: SOFT });`,
};

/** A program whose value is this expression, of any type. */
export const program = (expression: string): string => `import { z } from 'zod';
import { defineConfig } from 'conveyor/config';
export default defineConfig(z.any(), ${expression});`;
