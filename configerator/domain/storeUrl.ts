import { isPrivate } from '../../domain/loopback';

/** Why these are not addresses of a store, separated by commas; undefined if they are. It does not repeat them: they may hold a password. */
export function whyNotStoreUrls(text: string): string | undefined {
  const urls = text.split(',').map((url) => url.trim());
  if (!urls.every((url) => /^https?:\/\/[^/]/.test(url) && URL.canParse(url)))
    return 'expected the URL of an etcd such as http://127.0.0.1:2379, of a cluster several with commas';
  if (urls.some((url) => new URL(url).username !== '' || new URL(url).password !== ''))
    return 'a URL holds no user and no password: name them beside it, as user and passwordEnv';
  return undefined;
}

/** Whether others on the network could read the traffic to one of these addresses. */
export const isStoreOpenToOthers = (text: string): boolean => text.split(',').some((url) => !isPrivate(url.trim()));
