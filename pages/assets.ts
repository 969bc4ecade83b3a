import { hash } from '../domain/hash';
import { LIVE_SCRIPT } from './liveScript';
import { STYLESHEET } from './style/sheet';

/** A file that pages load. Its path has a hash of its content, so browsers may keep it for ever. */
export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly content: string;
}

const toAsset = (name: string, ending: string, type: string, content: string): Asset => ({
  path: `/assets/${name}-${hash(content).toString(16).padStart(8, '0')}${hash(`${content}.`).toString(16).padStart(8, '0')}.${ending}`,
  ...{ type, content },
});

export const STYLE = toAsset('style', 'css', 'text/css; charset=utf-8', STYLESHEET);

/** Three boxes on a belt. */
export const ICON = toAsset(
  'icon',
  'svg',
  'image/svg+xml',
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f5fbf"/><path d="M5 9h6v6H5zM13 9h6v6h-6zM21 9h6v6h-6z" fill="#fff"/><path d="M5 21h22" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>',
);

export const SCRIPT = toAsset('live', 'js', 'text/javascript; charset=utf-8', LIVE_SCRIPT);

export const ASSETS: readonly Asset[] = [STYLE, ICON, SCRIPT];
