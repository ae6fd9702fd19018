import DefaultTheme from 'vitepress/theme'
import './code.css'

export default DefaultTheme
