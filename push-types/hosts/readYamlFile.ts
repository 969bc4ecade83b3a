import { readFileSync, statSync } from 'node:fs';
import { parse } from 'yaml';

/** The value of a YAML file, such as the settings of a push type. @throws Error that names the file, and the line of a mistake */
export const readYamlFile = (path: string, mostBytes: number): unknown =>
  parseYamlText(readSmallFile(path, mostBytes), path);

/** The value of YAML from `place`. @throws Error that names the place and the line, but quotes nothing: the text may hold secrets */
export function parseYamlText(text: string, place: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    // Further lines show the text around the mistake.
    const [reason = ''] = (error as Error).message.split('\n');
    throw new Error(`${place} is not YAML: ${reason.replace(/:$/, '')}`);
  }
}

function readSmallFile(path: string, mostBytes: number): string {
  let size: number;
  try {
    ({ size } = statSync(path));
    if (size <= mostBytes) return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  throw new Error(`${path} has ${size} bytes, more than ${mostBytes}`);
}
