import type { Git } from './git';

/** A commit to create: the files that differ from its parent, each a blob id or a text. */
export interface NewCommit {
  /** A commit, or the index of an earlier one of the same import. */
  readonly parent: string | number | null;
  readonly author: string;
  readonly message: string;
  readonly files: readonly NewFile[];
}

export type NewFile =
  | { readonly path: string; readonly blob: string }
  | { readonly path: string; readonly text: string | Buffer }
  | { readonly path: string; readonly gone: true };

/**
 * Creates commits, stacked or not, in one process and without a work tree. @param ref keeps the last one; unique for
 * each import @returns their ids, in order
 */
export async function makeCommits(
  git: Git,
  ref: string,
  commits: readonly NewCommit[],
  nowMs: number,
): Promise<readonly string[]> {
  const parts: Buffer[] = [];
  const say = (text: string): void => void parts.push(Buffer.from(text));
  const data = (content: string | Buffer): void => {
    const bytes = Buffer.from(content);
    say(`data ${bytes.length}\n`);
    parts.push(bytes);
    say('\n');
  };
  const who = (name: string): string =>
    `${plainName(name)} <${toEmailAddress(name)}> ${Math.floor(nowMs / 1_000)} +0000`;
  commits.forEach(({ parent, author, message, files }, index) => {
    // Resets the ref, so that the commit need not follow the one before.
    say(`reset ${ref}\n\ncommit ${ref}\nmark :${index + 1}\nauthor ${who(author)}\ncommitter ${who('Conveyor')}\n`);
    data(message);
    if (parent !== null) say(`from ${typeof parent === 'number' ? `:${parent + 1}` : parent}\n`);
    for (const file of files) {
      if ('gone' in file) say(`D ${quotePath(file.path)}\n`);
      else if ('blob' in file) say(`M 100644 ${file.blob} ${quotePath(file.path)}\n`);
      else {
        say(`M 100644 inline ${quotePath(file.path)}\n`);
        data(file.text);
      }
    }
    say('\n');
  });
  commits.forEach((_commit, index) => say(`get-mark :${index + 1}\n`));
  say('done\n');
  const out = await git.text(['fast-import', '--quiet', '--done', '--force'], Buffer.concat(parts));
  const ids = out.split('\n').filter((line) => /^[0-9a-f]{40,64}$/.test(line));
  if (ids.length === commits.length) return ids;
  throw git.failure(['fast-import'], 'fatal: fast-import made other commits than it was asked for');
}

const quotePath = (path: string): string => `"${path.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`;
const plainName = (name: string): string => name.replace(/[<>\n\0]/g, ' ').trim() || 'unknown';
const toEmailAddress = (name: string): string => `${name.replace(/[^A-Za-z0-9._-]/g, '-')}@conveyor.invalid`;
