import type { Notice } from './notice';

/** The page about the release or deploy of a notice; null if the platform has no pages. */
export const linkNotice = (
  links: string | null,
  { release, deploy }: Pick<Notice, 'release' | 'deploy'>,
): string | null => (links === null ? null : `${links}/releases/${deploy ?? release}`);
