import { CONFIG_LIMITS } from '../../domain/limits';
import { textBytes } from '../../domain/size';

const SEGMENT = /^[A-Za-z0-9._-]+$/;

/**
 * The reason why a text is not a path of a value or a source file; undefined if it is one. Paths are POSIX paths, relative to the tree.
 */
export function whyNotConfigPath(path: string): string | undefined {
  if (path === '') return 'it is empty';
  if (textBytes(path) > CONFIG_LIMITS.path.max) return `it has more than ${CONFIG_LIMITS.path.max} characters`;
  if (path.startsWith('/')) return 'it begins with /, and paths are relative to the tree';
  const segments = path.split('/');
  if (segments.some((segment) => segment === '.' || segment === '..')) return 'it leaves its folder with . or ..';
  if (segments.some((segment) => !SEGMENT.test(segment)))
    return 'a name in it has something else than A-Z, a-z, 0-9, ".", "_" and "-"';
  return undefined;
}
