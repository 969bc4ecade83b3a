export { deploy } from './deploy';
export { lock } from './lock';
export { pipeline } from './pipeline';
export { release } from './release';
